/**
 * The first frame of Home and the playground in index.html, until their data are there: nothing flickers between the
 * two.
 */
import { homeDescription, openingWords } from './first-words.ts'

const firsts = ['home', 'chat', 'session'] as const

/** `session`: a conversation that exists, which has no opening. */
export type First = (typeof firsts)[number]

/**
 * Returns the data that the server has chosen for the address at which the window was opened, or null for pages without
 * any.
 */
export const firstOfWindow = (): First | null =>
  firsts.find((one) => one === document.documentElement.dataset.first) ?? null

export const FirstFrame = ({ of }: { of: First }) => (of === 'home' ? <FirstHome /> : <FirstChat of={of} />)

const FirstHome = () => (
  <div className="first" data-of="home" data-shown role="status" aria-label="Loading">
    <div className="first-title" />
    <p>{homeDescription}</p>
    <div className="first-card" />
  </div>
)

const FirstChat = ({ of }: { of: First }) => (
  <div className="first" data-of="chat" data-shown={of} role="status" aria-label="Loading">
    <div className="first-sessions" />
    <div className="first-conversation">
      <div className="first-head" />
      <div className="first-opening">
        <div className="first-icon" />
        <div className="first-name" />
        <p>{openingWords}</p>
        <div className="first-choices" />
      </div>
      <div className="first-field" />
    </div>
    <div className="first-panel" />
  </div>
)
