/** Queries that are looked at again and again, by name: kept in this browser. */
import { ActionIcon, Button, Group, Popover, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconBookmark, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useLocation } from 'react-router'

interface View {
  name: string
  /** The parameters of the page's address. */
  search: string
}

const key = 'greenroom.sessions.views'

const isView = (value: unknown): value is View => {
  const { name, search } = Object(value)
  return typeof name === 'string' && typeof search === 'string'
}

/** Returns the views; whatever else is stored there is left out. */
function stored(): View[] {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(read) ? read.filter(isView) : []
  } catch {
    return []
  }
}

/** Returns the address's parameters without the page of the list. */
function shownNow(search: string): string {
  const params = new URLSearchParams(search)
  params.delete('offset')
  return params.toString()
}

export function ViewsMenu({ isFiltered }: { isFiltered: boolean }) {
  const [views, setViews] = useState(stored)
  const [isOpen, { toggle, close }] = useDisclosure()
  const [name, setName] = useState('')
  const search = shownNow(useLocation().search)
  const keep = (next: View[]) => {
    localStorage.setItem(key, JSON.stringify(next))
    setViews(next)
  }
  const save = () => {
    const named = name.trim()
    if (named === '') return
    keep([...views.filter((view) => view.name !== named), { name: named, search }])
    setName('')
    close()
  }
  return (
    <Popover opened={isOpen} onChange={close} position="bottom-end" trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconBookmark size={16} stroke={1.7} aria-hidden />}
          aria-expanded={isOpen}
          onClick={toggle}
        >
          Views
        </Button>
      </Popover.Target>
      <Popover.Dropdown miw={240}>
        <Stack gap={8}>
          {views.map((view) => (
            <Group key={view.name} gap={4} wrap="nowrap" justify="space-between">
              <Button
                component={Link}
                to={`?${view.search}`}
                variant="subtle"
                color="gray"
                size="compact-sm"
                aria-current={view.search === search ? 'page' : undefined}
                onClick={close}
              >
                <bdi>{view.name}</bdi>
              </Button>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Forget the view ${view.name}`}
                onClick={() => keep(views.filter((one) => one !== view))}
              >
                <IconX size={14} stroke={1.7} />
              </ActionIcon>
            </Group>
          ))}
          {views.length === 0 && (
            <Text fz="sm" c="dimmed">
              A filter that you need again, by a name.
            </Text>
          )}
          <form
            onSubmit={(event) => {
              event.preventDefault()
              save()
            }}
          >
            <Group gap={8} wrap="nowrap">
              <TextInput
                size="xs"
                aria-label="Name of the view"
                placeholder={isFiltered ? 'Name of this view' : 'Filter first'}
                disabled={!isFiltered}
                value={name}
                onChange={({ currentTarget }) => setName(currentTarget.value)}
              />
              <Button type="submit" size="xs" variant="default" disabled={!isFiltered || name.trim() === ''}>
                Save
              </Button>
            </Group>
          </form>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
