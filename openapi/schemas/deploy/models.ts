/** Models as clients of the chat-completions format list them: each stands for an agent. */
import Type from 'typebox'
import { id, name, oneOf } from '../basics.ts'
import { ChatCompletionRequest } from '../conversation/chat.ts'

const model = {
  object: oneOf(['model'], 'Kind of object.'),
  created: Type.Integer({ description: 'When the agent was made, in Unix seconds.' }),
  owned_by: oneOf(['greenroom'], 'Always the same.'),
}
const listOfModels = (title: string, record: ReturnType<typeof Type.Object>) =>
  Type.Object({ object: oneOf(['list'], 'Kind of object.'), data: Type.Array(record) }, { title })

export const DeployModel = Type.Object({ id: name("The agent's model."), ...model }, { title: 'DeployModel' })
export const DeployModelList = listOfModels('DeployModelList', DeployModel)
export const AgentModel = Type.Object(
  { id: id('Id of the agent.'), name: name('Its name.'), ...model },
  { title: 'AgentModel' },
)
export const AgentModelList = listOfModels('AgentModelList', AgentModel)
export const AgentCompletionRequest = Type.Object(
  {
    ...ChatCompletionRequest.properties,
    model: Type.String({ description: 'Id of an agent, or its exact name where no other agent has the same.' }),
  },
  { title: 'AgentCompletionRequest' },
)
