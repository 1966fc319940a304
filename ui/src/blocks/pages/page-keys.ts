/** Keys of a page, which need no modifier. */
import { type HotkeyItem, useHotkeys } from '@mantine/hooks'

/**
 * Returns whether anything above the page is open that takes keys first: Esc closes it. Lists of pickers stay in the
 * document while they are closed.
 */
export const isAnythingOpen = (): boolean =>
  Array.from(document.querySelectorAll('[role=dialog], [role=listbox], [role=menu]')).some((box) =>
    box.checkVisibility(),
  )

/** Handles keys of a page. They do nothing while a dialog covers the page. */
export const usePageKeys = (keys: readonly HotkeyItem[]): void =>
  useHotkeys(keys.map(([key, act, options = {}]) => [key, (event) => isAnythingOpen() || act(event), options]))
