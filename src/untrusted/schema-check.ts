/** Checks values against schemas of our own, such as those of stored JSON. */
import { Ajv, type ValidateFunction } from 'ajv'
import type { Static, TSchema } from 'typebox'

const ajv = new Ajv({ strict: false, meta: false, validateSchema: false, validateFormats: false })

export interface SchemaCheck<Value> {
  fits(value: unknown): value is Value
  /** Returns where the last value that did not fit is wrong, and why. */
  fault(): string
}

/** Returns the check of a schema. It is compiled for the first value. */
export function schemaCheck<Schema extends TSchema>(schema: Schema): SchemaCheck<Static<Schema>> {
  let compiled: ValidateFunction<Static<Schema>> | null = null
  return {
    fits(value): value is Static<Schema> {
      compiled ??= ajv.compile<Static<Schema>>(schema)
      return compiled(value)
    },
    fault() {
      const fault = compiled?.errors?.[0]
      return `${fault?.instancePath} ${fault?.message}`
    },
  }
}
