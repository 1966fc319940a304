/** The summary of collected numbers. */

export type Quantiles = { count: number; mean: number; min: number; p50: number; p90: number; p99: number; max: number }

export type Samples = { add(value: number): void; quantiles(): Quantiles }

export function samples(): Samples {
  let values = new Float64Array(4096)
  let count = 0
  return {
    add(value) {
      if (count === values.length) {
        const larger = new Float64Array(count * 2)
        larger.set(values)
        values = larger
      }
      values[count++] = value
    },
    quantiles() {
      const sorted = values.slice(0, count).sort()
      const at = (share: number) => sorted[Math.min(count - 1, Math.floor(count * share))] ?? 0
      const sum = sorted.reduce((total, value) => total + value, 0)
      return {
        count,
        mean: count > 0 ? sum / count : 0,
        min: at(0),
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        max: at(1),
      }
    },
  }
}
