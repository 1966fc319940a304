/**
 * A picture of a model's text: nothing is asked of its server until it is clicked. It is shown in a frame of no origin:
 * the page's own policy allows no foreign picture, and the picture's server gets neither cookies nor a referrer.
 */
import { Button } from '@mantine/core'
import { IconPhoto } from '@tabler/icons-react'
import { createContext, use, useEffect, useRef, useState } from 'react'
import classes from '../markdown.module.css'
import { SafeLink } from '../safe-link.tsx'

interface PictureProps {
  href: string
  /** A description of the picture. */
  words: string
}

type State = 'asked' | 'shown' | 'failed' | { width: number; height: number }

/** Whether pictures of other servers may be shown, once they are asked for. Else there is a link. */
export const ForeignPictures = createContext(true)

export function Picture({ href, words }: PictureProps) {
  const [state, setState] = useState<State>('asked')
  const isAllowed = use(ForeignPictures)
  const name = words === '' ? 'Image' : words
  const host = URL.canParse(href) ? new URL(href) : null
  if (!isAllowed || host === null || !/^https?:$/.test(host.protocol)) return <SafeLink href={href}>{name}</SafeLink>
  if (state === 'asked') {
    return (
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconPhoto size={15} aria-hidden />}
        title={href}
        onClick={() => setState('shown')}
      >
        Show “{name}” from {host.host}
      </Button>
    )
  }
  return (
    <>
      {state !== 'failed' && (
        <Framed href={href} name={name} size={typeof state === 'string' ? null : state} onState={setState} />
      )}
      <SafeLink href={href}>{state === 'failed' ? `${name} (could not be shown)` : name}</SafeLink>
    </>
  )
}

interface FramedProps {
  href: string
  name: string
  /** Null until it is loaded. */
  size: { width: number; height: number } | null
  onState: (state: State) => void
}

function Framed({ href, name, size, onState }: FramedProps) {
  const frame = useRef<HTMLIFrameElement>(null)
  useEffect(() => {
    const onMessage = ({ source, data }: MessageEvent) => {
      if (source === null || source !== frame.current?.contentWindow) return
      const { width, height } = Object(data)
      onState(width > 0 && height > 0 ? { width: Number(width), height: Number(height) } : 'failed')
    }
    addEventListener('message', onMessage)
    return () => removeEventListener('message', onMessage)
  }, [onState])
  return (
    <iframe
      ref={frame}
      className={classes.picture}
      title={name}
      src={`/frames/picture.html#${encodeURIComponent(href)}`}
      sandbox="allow-scripts"
      referrerPolicy="no-referrer"
      style={size ? { width: size.width, aspectRatio: `${size.width} / ${size.height}` } : { height: 60 }}
    />
  )
}
