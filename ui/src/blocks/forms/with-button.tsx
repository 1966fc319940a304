import { Box, Group } from '@mantine/core'
import type { ReactNode } from 'react'

/**
 * Places a button next to a field's input, whatever stands above or below the input, for the field's `inputContainer`.
 */
export const withButton = (button: ReactNode) => (input: ReactNode) => (
  <Group gap="sm" wrap="nowrap" align="flex-start">
    <Box flex={1} maw={420}>
      {input}
    </Box>
    {button}
  </Group>
)
