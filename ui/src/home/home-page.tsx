import { Page } from '../blocks/page.tsx'
import { FirstSteps } from './first-steps.tsx'

export function Component() {
  return (
    <Page
      title="Welcome to Greenroom"
      description="Replies are stored before they are shown, resumed from any token, stopped from anywhere."
      width="reading"
    >
      <FirstSteps />
    </Page>
  )
}
