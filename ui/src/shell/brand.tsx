import { Group, Text } from '@mantine/core'

/** The mark and the name. `size`: height of the mark in pixels. */
export function Brand({ size = 26 }: { size?: number }) {
  return (
    <Group gap={10} wrap="nowrap">
      <img src="/favicon.svg" width={size} height={size} alt="" />
      <Text component="span" fw={650} fz={size * 0.62} lts="-0.02em">
        Greenroom
      </Text>
    </Group>
  )
}
