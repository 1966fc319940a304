/** Decisions that are remembered (contract section 29). */
import Type from 'typebox'
import { camelCased } from '../../camel-case.ts'
import { freeObject, id, nullable, oneOf, time } from '../basics.ts'
import { rememberScopes } from './actions.ts'

const fields = {
  id: id('Id of the decision.'),
  remember: oneOf(rememberScopes, 'For how long.'),
  decision: oneOf(['approve', 'reject'], 'What becomes of the calls that it covers.'),
  name: Type.String({ description: "The tool's name in the call that was decided." }),
  arguments: nullable(freeObject('The arguments and values that a call must have. Null: any.')),
  reason: nullable(Type.String({ description: 'What the model is told of a rejected call.' })),
  created_at: time('When it was decided.'),
}
export const RememberedDecisions = Type.Object(
  { decisions: Type.Array(Type.Object(fields, { title: 'RememberedDecision' })) },
  { title: 'RememberedDecisions' },
)
export const KnownDecisions = Type.Object(
  {
    decisions: Type.Array(
      Type.Object(
        {
          ...camelCased(fields),
          decidedBy: nullable(Type.String({ description: 'Login name, or end user. Null when none is named.' })),
          tool: freeObject('The tool, by the fields that identify it in `approvals`.'),
        },
        { title: 'KnownDecision' },
      ),
    ),
  },
  { title: 'KnownDecisions' },
)
