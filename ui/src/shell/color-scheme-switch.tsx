import { useMantineColorScheme, VisuallyHidden } from '@mantine/core'
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react'
import classes from './color-scheme-switch.module.css'

const schemes = [
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'auto', label: 'System', icon: IconDeviceDesktop },
  { value: 'dark', label: 'Dark', icon: IconMoon },
] as const

/** The browser's own radios: Mantine's control measures its labels, which lays the whole page out before its first frame. */
export function ColorSchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <div role="radiogroup" aria-label="Colours" className={classes.schemes}>
      {schemes.map(({ value, label, icon: Icon }) => (
        <label key={value} title={label}>
          <input
            type="radio"
            name="colours"
            value={value}
            checked={value === colorScheme}
            onChange={() => setColorScheme(value)}
          />
          <Icon size={15} stroke={1.7} aria-hidden />
          <VisuallyHidden>{label}</VisuallyHidden>
        </label>
      ))}
    </div>
  )
}
