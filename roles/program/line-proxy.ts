import { InvalidArgumentError } from 'commander'

/**
 * Parses the proxy of a copied line. A bare machine knows no authorities by which it could check that of an https://
 * proxy, and everybody on a machine sees arguments, so there is no login in it.
 */
export function toLineProxy(text: string): string {
  const why = whyNoLineProxy(text)
  if (why === undefined) return text.replace(/\/$/, '')
  throw new InvalidArgumentError(why)
}

/** Returns why a proxy cannot be that of a line; undefined if it can. The text may hold a password and is not in it. */
export function whyNoLineProxy(text: string): string | undefined {
  if (text.includes('@')) {
    return 'others see arguments: put user:password into /etc/skerry/proxy-credentials on the machine, and give --proxy-credentials'
  }
  const isProxy = /^http:\/\/[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:\d{1,5})?\/?$/i.test(text)
  if (isProxy && URL.canParse(text)) return undefined
  return 'the proxy of a machine is http://<host>[:<port>]'
}
