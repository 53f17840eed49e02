import { fieldInvalid, type ClusterTrustBundle, type StatusCause } from '@skerry/api'
import { pemBlocks } from '@skerry/kinds'
import { readX509 } from './read-x509.ts'

/** Only authorities can be trust anchors. An unchanged text is not checked again. */
export function trustAnchorCauses(
  { spec }: ClusterTrustBundle,
  old: ClusterTrustBundle | undefined,
): StatusCause[] {
  const { trustBundle } = spec
  if (trustBundle === old?.spec.trustBundle) return []
  return pemBlocks(trustBundle ?? '').flatMap((block, at) => {
    const { type, hasHeaders, base64, isLongSequence } = block
    // The kind's own rules report these.
    if (type !== 'CERTIFICATE' || hasHeaders || !isLongSequence) return []
    const certificate = readX509(base64)
    if (certificate?.isAuthority) return []
    const what = certificate ? 'does not have the CA bit set' : 'does not parse as X.509'
    return [fieldInvalid('spec.trustBundle', '<value omitted>', `entry ${at} ${what}`)]
  })
}
