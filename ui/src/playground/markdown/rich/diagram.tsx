/** A Mermaid diagram: a picture once it is drawn; until then, and where it is faulty, its source. */
import { Button, Text, useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { CodeBlock } from '../../../blocks/code-block.tsx'
import classes from '../markdown.module.css'
import { drawDiagram } from './diagram-frame.ts'

export default function Diagram({ source }: { source: string }) {
  const scheme = useComputedColorScheme()
  const [isSource, setSource] = useState(false)
  const { data: svg, error } = useQuery({
    queryKey: ['diagram', scheme, source],
    queryFn: () => drawDiagram(source, scheme === 'dark'),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  const address = useAddress(svg)
  const turn = address !== null && (
    <Button size="compact-xs" variant="subtle" color="gray" onClick={() => setSource(!isSource)}>
      {isSource ? 'Show the diagram' : 'Show the source'}
    </Button>
  )
  if (address === null || isSource) {
    return (
      <>
        <CodeBlock code={source} caption="mermaid" actions={turn} />
        {error && (
          <Text fz="xs" c="dimmed" role="note">
            The diagram cannot be drawn: {error.message}
          </Text>
        )}
      </>
    )
  }
  return (
    <figure className={classes.diagram}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <div tabIndex={0}>
        <img src={address} alt={`Diagram: ${source.slice(0, 500)}`} />
      </div>
      <figcaption>{turn}</figcaption>
    </figure>
  )
}

/** Returns the URL of a picture with this content. Null while there is none. */
function useAddress(svg: string | undefined): string | null {
  const [address, setAddress] = useState<string | null>(null)
  useEffect(() => {
    if (svg === undefined) return
    const made = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }))
    setAddress(made)
    return () => {
      setAddress(null)
      URL.revokeObjectURL(made)
    }
  }, [svg])
  return address
}
