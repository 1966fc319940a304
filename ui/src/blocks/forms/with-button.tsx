import { Box, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './forms.module.css'

/**
 * Places a button next to a field's input, whatever stands above or below the input, for the field's `inputContainer`.
 */
export const withButton = (button: ReactNode) => (input: ReactNode) => (
  <Group gap="sm" wrap="nowrap" align="flex-start" my={4}>
    <Box flex={1} maw={420} className={classes.beside}>
      {input}
    </Box>
    {button}
  </Group>
)
