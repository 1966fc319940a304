/** Tools that are called once by hand, and their answers. */
import Type from 'typebox'
import { freeObject, name, nullable } from '../basics.ts'
import { metadata } from '../conversation/sessions.ts'

export const HttpToolTestRequest = Type.Object(
  {
    arguments: Type.Optional(nullable(freeObject('What a model would pass.'))),
    user: Type.Optional(nullable(name('What `{{session.user}}` stands for. Absent or null: nobody.'))),
    metadata: Type.Optional(nullable(metadata)),
  },
  { title: 'HttpToolTestRequest' },
)
export const HttpToolTest = Type.Object(
  {
    ok: Type.Boolean(),
    status: nullable(Type.Integer({ description: 'HTTP status of the response; null if there was none.' })),
    body: nullable(Type.String({ description: 'Text of the response, at most 256 KiB; null if there was none.' })),
    latencyMs: Type.Integer({ minimum: 0, description: 'Milliseconds.' }),
    message: Type.String({ description: 'What happened, in words.' }),
  },
  { title: 'HttpToolTest' },
)

export const McpToolTestRequest = Type.Object(
  {
    tool: Type.String({ minLength: 1, maxLength: 1000, description: "The server's name for it." }),
    arguments: Type.Optional(nullable(freeObject('What a model would pass.'))),
  },
  { title: 'McpToolTestRequest' },
)
export const McpToolTest = Type.Object(
  {
    ok: Type.Boolean(),
    content: Type.String({ description: 'What a model would be told: the result, or what went wrong.' }),
    latencyMs: Type.Integer({ minimum: 0, description: 'Milliseconds.' }),
  },
  { title: 'McpToolTest' },
)
