/** The running machine as data, for display (contract section 8). */
import { sessionMachine } from './machine.ts'

export interface ChartState {
  /** Path of the state: `idle`, `streaming.settling`, … */
  id: string
  kind: 'atomic' | 'compound' | 'parallel' | 'final' | 'history'
  description: string
  parent: string | null
}

export interface ChartTransition {
  id: string
  source: string
  target: string
  event: string
  description: string
}

export interface SessionChart {
  id: string
  initial: string
  states: ChartState[]
  transitions: ChartTransition[]
}

type Node = typeof sessionMachine.root

const pathOf = (node: Node): string => node.path.join('.')

function visit(node: Node, chart: SessionChart): void {
  for (const child of Object.values(node.states)) {
    chart.states.push({
      id: pathOf(child),
      kind: child.type,
      description: child.description ?? '',
      parent: child.parent && child.parent !== sessionMachine.root ? pathOf(child.parent) : null,
    })
    for (const [event, transitions] of child.transitions) {
      for (const { target, description } of transitions) {
        for (const to of target ?? []) {
          const id = `${pathOf(child)}:${event}:${pathOf(to)}`
          chart.transitions.push({
            id,
            source: pathOf(child),
            target: pathOf(to),
            event,
            description: description ?? '',
          })
        }
      }
    }
    visit(child, chart)
  }
}

/** States and transitions in the order of their definition. */
export function sessionChart(): SessionChart {
  const initial = sessionMachine.root.initial.target.map(pathOf).join()
  const chart: SessionChart = { id: sessionMachine.id, initial, states: [], transitions: [] }
  visit(sessionMachine.root, chart)
  return chart
}

/** The chart's transition that a recorded step took: edges end at compound states, steps at the innermost ones. */
export function transitionTaken(
  transitions: readonly ChartTransition[],
  step: { from: string; to: string; event: string },
): ChartTransition | undefined {
  const isWithin = (state: string, ancestor: string) => state === ancestor || state.startsWith(`${ancestor}.`)
  return transitions.find(
    ({ source, target, event }) => event === step.event && isWithin(step.from, source) && isWithin(step.to, target),
  )
}
