import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ChatOpenAI } from '@langchain/openai'

const model = new ChatOpenAI({
  model: 'bench',
  apiKey: 'none',
  configuration: { baseURL: process.env.UPSTREAM_URL },
})

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge(START, 'answer')
  .addEdge('answer', END)
  .compile()
