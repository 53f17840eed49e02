import type { ComponentProps, MouseEvent } from 'react'
import { useRouter } from 'wouter'
import { navigate } from 'wouter/use-browser-location'

interface RowLinkProps extends ComponentProps<'a'> {
  /** A page of the console. */
  readonly href: string
}

/** A link that stands thousands of times on a page: unlike the router's own, it does not follow the address. */
export function RowLink({ href, ...others }: RowLinkProps) {
  const address = `${useRouter().base}${href}`
  return (
    <a
      {...others}
      href={address}
      onClick={(event) => {
        if (opensElsewhere(event)) return
        event.preventDefault()
        navigate(address)
      }}
    />
  )
}

/** Reports whether the browser opens another tab or window for this click. */
function opensElsewhere({ button, ctrlKey, metaKey, shiftKey, altKey }: MouseEvent): boolean {
  return button !== 0 || ctrlKey || metaKey || shiftKey || altKey
}
