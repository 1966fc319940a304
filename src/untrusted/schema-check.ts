/** Checks values against schemas of our own, such as those of stored JSON. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
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
    fault: () => faultOf(compiled?.errors?.[0]),
  }
}

/** Names the field, and what is wrong with it. */
function faultOf(error: ErrorObject | undefined): string {
  if (error === undefined) return 'nothing is wrong'
  const { instancePath, keyword, params, message } = error
  if (keyword === 'required') return `${instancePath}/${params.missingProperty} is missing`
  if (keyword === 'additionalProperties') return `${instancePath}/${params.additionalProperty} is not known`
  return `${instancePath} ${message}`
}
