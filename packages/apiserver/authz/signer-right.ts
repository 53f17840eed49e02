import type { Authorizer, UserInfo } from '../contract/access.ts'

export interface SignerRight {
  readonly user: UserInfo
  readonly verb: 'approve' | 'sign' | 'attest'
  readonly signerName: string
}

/** Checks the right for that signer, or for its whole domain. */
export async function isSignerAllowed(
  authorizer: Authorizer,
  { user, verb, signerName }: SignerRight,
): Promise<boolean> {
  const [domain = ''] = signerName.split('/')
  for (const name of [signerName, `${domain}/*`]) {
    const { verdict } = await authorizer.authorize({
      user,
      verb,
      isResourceRequest: true,
      resource: { group: 'certificates.k8s.io', version: '*', resource: 'signers' },
      name,
      path: '',
    })
    if (verdict === 'allow') return true
  }
  return false
}
