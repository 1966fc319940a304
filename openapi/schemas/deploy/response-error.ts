/** The error of the Responses and Conversations API. */
import Type from 'typebox'
import { nullable, oneOf } from '../basics.ts'

export const ResponseError = Type.Object(
  {
    error: Type.Object({
      message: Type.String({ description: 'What is wrong, beginning with the field where one is to blame.' }),
      type: oneOf(['invalid_request_error', 'server_error'], 'Whose fault it is.'),
      code: Type.String({ description: 'Such as `invalid_request`, `not_found`, `previous_response_not_found`.' }),
      param: nullable(Type.String({ description: 'The field, as a dotted path.' })),
    }),
  },
  { title: 'ResponseError', description: 'Every error of the Responses and Conversations API.' },
)
