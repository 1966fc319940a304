import { Button } from '@mantine/core'

interface SignInButtonProps {
  /** The address at which the sign-in begins. */
  url: string
  /** The page to return to, on this server. */
  to: string
  /** Whether it opens a window of its own, so that what is typed here stays. */
  isApart?: boolean
}

/** Leads to the identity provider. */
export function SignInButton({ url, to, isApart = false }: SignInButtonProps) {
  return (
    <Button
      component="a"
      href={`${url}?to=${encodeURIComponent(to)}`}
      variant="default"
      fullWidth
      {...(isApart && { target: '_blank', rel: 'noreferrer' })}
    >
      Sign in with your organization
    </Button>
  )
}
