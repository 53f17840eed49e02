/** Lets libraries that make style elements do so under the hub's policy, which wants its nonce on each of them. */

let isGiven = false

export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="skerry-nonce"]')?.content ?? ''
}

/** Puts the nonce on all style elements that are made from now on: the terminal has no setting for it. */
export function giveStylesNonce(): void {
  if (isGiven) return
  isGiven = true
  const nonce = styleNonce()
  const create = document.createElement.bind(document)
  const createWithNonce = (tag: string, options?: ElementCreationOptions): HTMLElement => {
    const element = create(tag, options)
    if (element instanceof HTMLStyleElement) element.nonce = nonce
    return element
  }
  Object.defineProperty(document, 'createElement', { value: createWithNonce, configurable: true })
}
