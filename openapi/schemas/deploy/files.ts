/** Uploaded files, in OpenAI's format (contract section 32). */
import Type from 'typebox'
import { nullable, oneOf } from '../basics.ts'

export const filePurposes = ['assistants', 'batch', 'evals', 'fine-tune', 'user_data', 'vision'] as const
export type FilePurpose = (typeof filePurposes)[number]

const unixTime = (description: string) => Type.Number({ description: `${description} Unix time in seconds.` })

export const UploadedFile = Type.Object(
  {
    id: Type.String({ description: '`file-` and a UUID without dashes.' }),
    object: oneOf(['file'], 'Kind of object.'),
    bytes: Type.Integer({ description: 'Size.' }),
    created_at: unixTime('When it was uploaded.'),
    expires_at: nullable(unixTime('When it expires; null: not at a set time.')),
    filename: Type.String(),
    purpose: oneOf(filePurposes, 'As it was sent.'),
    status: oneOf(['processed'], 'A file that is there can be used.'),
    media_type: Type.String({ description: 'Told by the bytes.' }),
    user: nullable(Type.String({ description: 'Whose it is; null: nobody’s.' })),
  },
  { title: 'UploadedFile' },
)
export const FileList = Type.Object(
  {
    object: oneOf(['list'], 'Kind of object.'),
    data: Type.Array(UploadedFile),
    first_id: nullable(Type.String()),
    last_id: nullable(Type.String()),
    has_more: Type.Boolean(),
  },
  { title: 'FileList' },
)
export const FileDeleted = Type.Object(
  { id: Type.String(), object: oneOf(['file'], 'Kind of object.'), deleted: Type.Literal(true) },
  { title: 'FileDeleted' },
)
export const fileQuery = Type.Object({
  purpose: Type.Optional(oneOf(filePurposes, 'Only files of this purpose.')),
  user: Type.Optional(Type.String({ description: 'Only files of this user.' })),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Most files, 1 to 1,000.' }),
  ),
  after: Type.Optional(Type.String({ description: 'The id of the file before the first one.' })),
  order: Type.Optional({ ...oneOf(['asc', 'desc'], 'Newest first: `desc`.'), default: 'desc' }),
})

const fields = {
  file: Type.Unsafe<string>({ type: 'string', contentMediaType: 'application/octet-stream' }),
  purpose: Type.Optional({ ...oneOf(filePurposes, 'It is kept and changes nothing.'), default: 'user_data' }),
  'expires_after[anchor]': Type.Optional(oneOf(['created_at'], 'The time from which the seconds count.')),
  'expires_after[seconds]': Type.Optional(
    Type.Integer({ minimum: 3600, maximum: 2_592_000, description: 'Seconds until it expires.' }),
  ),
  user: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Whose it is.' })),
}

export const FileForm = Type.Object(fields, { title: 'FileForm' })
export const AgentFileForm = Type.Object(
  {
    ...fields,
    model: Type.Optional(Type.String({ description: 'Id of an agent, or its name where it is the only one.' })),
  },
  { title: 'AgentFileForm' },
)
