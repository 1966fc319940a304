/**
 * Design tokens: greys with a tint of green, Inter, and one accent. Each colour has one role. Green: go, and what went well.
 * Slate: the focus, and what leads elsewhere. Grey: what is selected. Blue: what runs. Amber: what needs a look. Red: what has
 * failed. Violet and magenta: what is being saved, and what waits. test/ui/shell/scale.long.test.ts counts them.
 */
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'
import type { FocusEvent, MouseEvent } from 'react'

const accent: MantineColorsTuple = [
  '#ecf8f1',
  '#d7efe1',
  '#ace0c3',
  '#7dcfa2',
  '#57c187',
  '#33a66b',
  '#1b8a55',
  '#0e7547',
  '#0a613b',
  '#064a2d',
]
// Step 6 is the palest for text on white (5.4:1).
const gray: MantineColorsTuple = [
  '#f8f9f8',
  '#f1f3f1',
  '#e6e9e6',
  '#d8dcd9',
  '#bfc5c1',
  '#8b938e',
  '#626b65',
  '#49514c',
  '#2f3632',
  '#1a1f1c',
]
const dark: MantineColorsTuple = [
  '#e3e7e4',
  '#c5cbc7',
  '#9aa39d',
  '#6b756f',
  '#363d39',
  '#2a302d',
  '#1d2220',
  '#151917',
  '#101412',
  '#0a0d0b',
]

/** A picker that is filled is typed into to choose another one, not to append to what it shows. */
const selectWhenEntered = {
  onFocus: ({ currentTarget }: FocusEvent<HTMLInputElement>) => {
    if (!currentTarget.readOnly) currentTarget.select()
  },
  onMouseDown: ({ currentTarget }: MouseEvent<HTMLInputElement>) => {
    currentTarget.toggleAttribute('data-entered', document.activeElement !== currentTarget)
  },
  // The click that enters it would put the caret where it fell.
  onClick: ({ currentTarget }: MouseEvent<HTMLInputElement>) => {
    if (currentTarget.hasAttribute('data-entered') && !currentTarget.readOnly) currentTarget.select()
    currentTarget.removeAttribute('data-entered')
  },
}

/** Colours of what is ticked or switched on. */
const chosen = { color: 'var(--chosen)', iconColor: 'var(--chosen-mark)' }

export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: 7,
  black: '#1a1f1c',
  colors: { accent, gray, dark },
  respectReducedMotion: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Code', Menlo, 'DejaVu Sans Mono', monospace",
  // Five sizes and three weights, and no other: hints 12, controls, labels and tables 13, what is read 14, headings 16 and 20.
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  fontWeights: { regular: '400', medium: '500', bold: '600' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  // Of controls and of surfaces; `xl`: of what is round.
  radius: { xs: '4px', sm: '6px', md: '6px', lg: '8px', xl: '20px' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.25rem', lineHeight: '1.4' },
      h2: { fontSize: '1rem', lineHeight: '1.4' },
      h3: { fontSize: '0.875rem', lineHeight: '1.4' },
      h4: { fontSize: '0.875rem', lineHeight: '1.4' },
      h5: { fontSize: '0.8125rem', lineHeight: '1.4' },
      h6: { fontSize: '0.8125rem', lineHeight: '1.4' },
    },
  },
  components: {
    // They are named only: their code belongs to the pages that use them.
    Modal: {
      defaultProps: { centered: true, radius: 'lg', padding: 'lg' },
      styles: { title: { fontWeight: 600, fontSize: '1rem' } },
    },
    CloseButton: { defaultProps: { 'aria-label': 'Close' } },
    Select: { defaultProps: selectWhenEntered },
    Autocomplete: { defaultProps: selectWhenEntered },
    // Their own sizes begin at 9 px.
    Badge: { vars: () => ({ root: { '--badge-fz': '0.75rem' } }), styles: { label: { fontWeight: 500 } } },
    Pill: { vars: () => ({ root: { '--pill-fz': '0.75rem' } }) },
    InputWrapper: {
      vars: () => ({
        label: {},
        error: { '--input-error-size': '0.75rem' },
        description: { '--input-description-size': '0.75rem' },
      }),
    },
    Alert: { styles: { title: { fontWeight: 600 } } },
    Checkbox: { defaultProps: chosen },
    Radio: { defaultProps: chosen },
    RadioIndicator: { defaultProps: chosen },
    Switch: { defaultProps: { color: chosen.color } },
    Tabs: { defaultProps: { color: chosen.color } },
    Tooltip: { defaultProps: { openDelay: 350, fz: 'xs' } },
  },
})

/**
 * Returns the colours that replace Mantine's where those are too pale to read (WCAG AA). The colours of surfaces are in
 * base.css.
 */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-text': '#1a1f1c',
    '--mantine-color-body': '#ffffff',
    '--mantine-color-dimmed': gray[6],
    '--mantine-color-placeholder': '#6d756f',
    '--mantine-color-error': '#b82222',
    '--mantine-color-red-light': '#fdf0ef',
    '--mantine-color-red-light-hover': '#fadedc',
    '--mantine-color-red-light-color': '#b82222',
    '--mantine-color-default-color': '#1a1f1c',
    '--mantine-color-anchor': '#24527a',
    '--mantine-color-accent-light': '#e3f4ea',
    '--mantine-color-accent-light-hover': accent[1],
    '--mantine-color-accent-light-color': accent[7],
    '--mantine-color-default-border': gray[3],
  },
  dark: {
    '--mantine-color-text': '#e3e7e4',
    '--mantine-color-body': '#151917',
    '--mantine-color-dimmed': dark[2],
    '--mantine-color-placeholder': '#8d9690',
    '--mantine-color-error': '#ff8585',
    '--mantine-color-red-light': 'rgb(255 133 133 / 12%)',
    '--mantine-color-red-light-hover': 'rgb(255 133 133 / 18%)',
    '--mantine-color-red-light-color': '#ff8585',
    '--mantine-color-default-color': '#e3e7e4',
    '--mantine-color-anchor': '#9cc4e8',
    '--mantine-color-accent-light': 'rgb(87 193 135 / 14%)',
    '--mantine-color-accent-light-hover': 'rgb(87 193 135 / 20%)',
    '--mantine-color-accent-light-color': accent[4],
    '--mantine-color-gray-light-color': '#e3e7e4',
    '--mantine-color-default-border': dark[4],
  },
})
