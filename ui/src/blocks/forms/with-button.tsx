import { Box, Group } from '@mantine/core'
import type { ReactNode } from 'react'

/** A button beside a field's input, whatever stands above or below that, for the field's `inputContainer`. */
export const withButton = (button: ReactNode) => (input: ReactNode) => (
  <Group gap="sm" wrap="nowrap" align="flex-start">
    <Box flex={1} maw={420}>
      {input}
    </Box>
    {button}
  </Group>
)
