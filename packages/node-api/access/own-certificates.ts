import { nodeApiBounds } from '../limits-table.ts'

const { ownCertificatesMax } = nodeApiBounds.tokenAnswers

/** Knows the certificates of this node, so that tokens of the one before a renewal are good until they end. */
export class OwnCertificates {
  readonly #current: () => string
  readonly #seen = new Set<string>()

  constructor(current: () => string) {
    this.#current = current
    this.#look()
  }

  has(certificatePem: string): boolean {
    this.#look()
    return this.#seen.has(withoutSpace(certificatePem))
  }

  #look(): void {
    this.#seen.add(withoutSpace(this.#current()))
    const [oldest = ''] = this.#seen
    if (this.#seen.size > ownCertificatesMax) this.#seen.delete(oldest)
  }
}

/** Writers of PEM break lines in different ways. */
function withoutSpace(pem: string): string {
  return pem.replaceAll(/\s/g, '')
}
