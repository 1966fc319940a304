/** Keys of a page, which need no modifier. */
import { type HotkeyItem, useHotkeys } from '@mantine/hooks'

/** What keys belong to before the page: Esc closes it. Lists of pickers stay in the document while they are closed. */
export const isAnythingOpen = (): boolean =>
  Array.from(document.querySelectorAll('[role=dialog], [role=listbox], [role=menu]')).some((box) =>
    box.checkVisibility(),
  )

/** They do nothing to the page that lies behind a dialog. */
export const usePageKeys = (keys: readonly HotkeyItem[]): void =>
  useHotkeys(keys.map(([key, act, options = {}]) => [key, (event) => isAnythingOpen() || act(event), options]))
