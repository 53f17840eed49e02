/** A bootstrap token: `<id>.<secret>`, six and sixteen characters of a-z0-9. The id is not secret. */
export interface BootstrapToken {
  readonly id: string
  readonly secret: string
}

/** The type and namespace of the Secrets that hold bootstrap tokens. */
export const bootstrapSecretType = 'bootstrap.kubernetes.io/token'
export const bootstrapNamespace = 'kube-system'

export function parseBootstrapToken(text: string): BootstrapToken | undefined {
  const [, id, secret] = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(text) ?? []
  return id !== undefined && secret !== undefined ? { id, secret } : undefined
}

export function bootstrapSecretName(id: string): string {
  return `bootstrap-token-${id}`
}
