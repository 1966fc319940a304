/** The door of feedback: all that the wires use of it. */
export { type FeedbackDependencies, giveFeedback, takeFeedbackBack } from './routes/give-feedback.ts'
