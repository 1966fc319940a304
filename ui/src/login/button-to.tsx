import { Button, type ButtonProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useRefusal } from './roles.ts'

interface ButtonToProps extends ButtonProps {
  to: string
  children: ReactNode
}

/** A button that leads to a page. Where the role does not open the page, it leads nowhere and says which one does. */
export function ButtonTo({ to, ...button }: ButtonToProps) {
  const refusal = useRefusal('open', to)
  return refusal === undefined ? (
    <Button component={Link} to={to} {...button} />
  ) : (
    <Button disabled title={refusal} {...button} />
  )
}
