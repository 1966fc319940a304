/** The page of a share: a conversation, without a login and without anything else of the product. */
import '@fontsource-variable/inter/wght.css'
import '../mantine.css'
import '../base.css'
import { Alert, MantineProvider, VisuallyHidden } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode, useEffect, useState } from 'react'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { MessageParts } from '../playground/composer/attached.tsx'
import type { ShownMessage } from '../playground/connection/live-reply.ts'
import { ForeignPictures } from '../playground/markdown/rich/picture.tsx'
import messageClasses from '../playground/message/message.module.css'
import { ReplyBody } from '../playground/message/reply-body.tsx'
import { UserText } from '../playground/message/user-text.tsx'
import { queryClient } from '../query-client.ts'
import { root } from '../root.ts'
import { cssVariables, theme } from '../theme.ts'
import classes from './share.module.css'
import { addressIn, followShared, type SharedSession, sentenceFor } from './shared-session.ts'

function SharedPage() {
  const [session, setSession] = useState<SharedSession | null>(null)
  const [sentence, setSentence] = useState<string | null>(null)
  useEffect(() => {
    const leaving = new AbortController()
    const begin = async () => {
      const address = addressIn(location)
      if (address === null)
        return setSentence('This link is not complete: the conversation is behind its whole address.')
      await followShared(address, setSession, leaving.signal).catch((error: unknown) => {
        if (leaving.signal.aborted) return
        setSession(null)
        setSentence(sentenceFor(error))
      })
    }
    void begin()
    return () => leaving.abort()
  }, [])
  if (sentence !== null)
    return (
      <main className={classes.page}>
        <p role="alert">{sentence}</p>
      </main>
    )
  if (session === null) return <main className={classes.page} aria-busy />
  const title = session.title ?? 'Shared conversation'
  return (
    <main className={classes.page}>
      <title>{title}</title>
      <h1 className={classes.title} dir="auto">
        {title}
      </h1>
      {session.messages.map((message, index, all) => (
        <SharedMessage key={message.id} message={message} place={index + 1} isLast={index === all.length - 1} />
      ))}
    </main>
  )
}

function SharedMessage({ message, place, isLast }: { message: ShownMessage; place: number; isLast: boolean }) {
  const [unfolded] = useState(() => new Set<string>())
  const { role, content, parts = [], createdAt, status } = message
  const author = role === 'user' ? 'User' : 'Reply'
  return (
    <article
      className={role === 'user' ? messageClasses.user : messageClasses.reply}
      aria-label={author}
      aria-busy={status === 'streaming'}
    >
      <VisuallyHidden component="h2">{author}</VisuallyHidden>
      {parts.length > 0 && <MessageParts parts={parts} />}
      {role === 'user' ? (
        content !== '' && <UserText text={content} />
      ) : (
        <ReplyBody message={message} id={String(place)} unfolded={unfolded} marks={[]} isFollowedByMessage={!isLast} />
      )}
      {status === 'error' && (
        <Alert color="red" variant="light" mt="sm">
          The reply failed.
        </Alert>
      )}
      <div className={messageClasses.foot}>
        <RelativeTime iso={createdAt} />
      </div>
    </article>
  )
}

const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? ''
Object.assign(globalThis, { __webpack_nonce__: nonce })

root.render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <ForeignPictures value={false}>
          <SharedPage />
        </ForeignPictures>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
