/** Shared schemas. A schema with a `title` becomes a component of that name. */
import Type, { type TObject, type TProperties, type TSchema } from 'typebox'
import { readOnly } from '../read-only.ts'

/** Returns the same schema, null allowed. For single types and enums. */
export function nullable(schema: TSchema): TSchema {
  const { type, enum: values, ...rest } = schema as TSchema & { type?: string; enum?: readonly unknown[] }
  return Type.Unsafe({
    ...rest,
    ...(type === undefined ? {} : { type: [type, 'null'] }),
    ...(values === undefined ? {} : { enum: [...values, null] }),
  })
}

/** Returns an object of these properties, or null. */
export const objectOrNull = (properties: TProperties, description: string): TSchema =>
  Type.Unsafe({ ...Type.Object(properties), type: ['object', 'null'], description })

export const id = (description: string) => Type.String({ format: 'uuid', description })
export const time = (description: string) =>
  Type.String({ format: 'date-time', description: `${description} ISO 8601, UTC.` })
export const count = (description: string) => Type.Integer({ minimum: 0, description })
/** Names, titles and model names: 1 to 200 characters, counted as Unicode code points. */
export const name = (description: string) =>
  Type.String({ minLength: 1, maxLength: 200, description: `${description} 1 to 200 characters.` })
export const oneOf = (values: readonly string[], description: string) =>
  Type.Unsafe({ type: 'string', enum: [...values], description })
/** Returns the schema of any JSON object, nested at most 100 deep. */
export const freeObject = (description: string) =>
  Type.Unsafe({ type: 'object', additionalProperties: true, 'x-max-depth': 100, description })

export const timestamps = {
  createdAt: time('When the record was created.'),
  updatedAt: time('When it was last changed.'),
}

/** Read-only fields that a body may repeat, because it may be a record as it was read. */
export const asRead = readOnly('id', 'createdAt', 'updatedAt')

/** Makes every property optional, for PUT: absent ones keep their value. */
export const optional = <const P extends TProperties>(properties: P): TProperties =>
  Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, Type.Optional(schema)]))

const limit = Type.Integer({
  minimum: 1,
  default: 20,
  description:
    'Maximum number of records, 1 to 100. Larger values are treated as 100. Anything but a whole number from 1: 400.',
})
const offset = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  default: 0,
  description: 'Number of records to skip.',
})

export const page = Type.Object({ limit: Type.Optional(limit), offset: Type.Optional(offset) })
export const searchPage = Type.Object({
  limit: Type.Optional(limit),
  offset: Type.Optional(offset),
  q: Type.Optional(Type.String({ description: 'Only records whose name or title contains this text, ignoring case.' })),
})

/** Returns the schema `{[key]: [record], total, limit, offset}`. */
export const listOf = (title: string, key: string, record: TSchema): TObject =>
  Type.Object(
    {
      [key]: Type.Array(record),
      total: count('Total number of records.'),
      limit: count('The limit used, after capping.'),
      offset: count('The offset used.'),
    },
    { title },
  )

export const Message = Type.Object(
  { message: Type.String({ description: 'What went wrong, with the field at fault if there is one.' }) },
  { title: 'Message' },
)
export const DeployError = Type.Object(
  { error: Type.String({ description: 'What went wrong.' }) },
  { title: 'DeployError', description: 'Every error of the deploy API except 400 and 401.' },
)
export const DeployRequestError = Type.Object(
  {
    error: Type.Object({
      message: Type.String({ description: 'What is wrong, beginning with the field where one is to blame.' }),
      type: Type.String({ description: '`invalid_request_error`' }),
      code: Type.String({ description: '`invalid_request`, or `context_length_exceeded`: too long for the model.' }),
      param: nullable(
        Type.String({ description: 'The field, as a dotted path. Null stands for the body or query as a whole.' }),
      ),
    }),
  },
  { title: 'DeployRequestError' },
)
export const DeployAuthError = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.String({ description: '`invalid_request_error`' }),
      code: Type.String({
        description: '`invalid_api_key`; of client secrets also `token_expired` and `token_revoked`.',
      }),
    }),
  },
  { title: 'DeployAuthError' },
)
