/** Headings of pages that show theirs, in the navigation's frame, before the page itself has been loaded. */
import type { PageProps } from '../blocks/page.tsx'

type PageHead = Pick<PageProps, 'title' | 'width'> & { description: string }

export const pageHeads = {
  sessions: {
    title: 'Sessions',
    description: 'Every conversation with every agent, most recently updated first.',
    width: 'full',
  },
  waiting: {
    title: 'Waiting',
    description: 'Calls waiting for a decision, across all agents, oldest first.',
    width: 'full',
  },
  chart: {
    title: 'State chart',
    description: 'Every session is an actor that moves through these states, shown as it runs.',
    width: 'full',
  },
  usage: {
    title: 'Usage',
    description:
      'Tokens read and written by models, for every reply, however it ended, including those of deleted sessions and agents.',
  },
} satisfies Record<string, PageHead>
