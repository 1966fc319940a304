import { SegmentedControl, useMantineColorScheme, VisuallyHidden } from '@mantine/core'
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react'

const schemes = [
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'auto', label: 'System', icon: IconDeviceDesktop },
  { value: 'dark', label: 'Dark', icon: IconMoon },
] as const

export function ColorSchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <SegmentedControl
      size="xs"
      radius="xl"
      aria-label="Colours"
      value={colorScheme}
      onChange={(value) => setColorScheme(value)}
      data={schemes.map(({ value, label, icon: Icon }) => ({
        value,
        label: (
          <>
            <Icon size={15} stroke={1.7} display="block" aria-hidden />
            <VisuallyHidden>{label}</VisuallyHidden>
          </>
        ),
      }))}
    />
  )
}
