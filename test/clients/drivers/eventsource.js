/** The npm package `eventsource`: a browser's EventSource for Node.js, with a `fetch` of the caller's. */
import { EventSource } from 'eventsource'
import { versionOf } from './told.js'

export const openDriver = () => ({
  name: 'eventsource',
  version: versionOf('eventsource'),
  byItself: true,
  takesHeaders: true,
  async open(url, headers = {}) {
    const source = new EventSource(url, {
      fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, ...headers } }),
    })
    const frames = []
    source.addEventListener('message', ({ data, lastEventId }) => frames.push({ id: lastEventId, data }))
    return {
      frames: async () => frames,
      isOver: async () => source.readyState === EventSource.CLOSED,
      close: async () => source.close(),
    }
  },
})
