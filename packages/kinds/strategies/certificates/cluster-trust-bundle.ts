import {
  checkDnsSubdomain,
  fieldInvalid,
  fieldTooLong,
  type ClusterTrustBundle,
  type StatusCause,
} from '@skerry/api'
import { addInvalid, checkUnchanged, isLongerThan, type Found } from '../checks.ts'
import { pemBlocks } from '../pem-text.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { checkSignerName } from './signer-name.ts'
import { kindsBounds } from '../../limits-table.ts'

export const clusterTrustBundleStrategy = strategyOf<ClusterTrustBundle>({
  hasGeneration: false,
  allowUnconditionalUpdate: false,
  // Colons separate the signer's name from the rest.
  nameRule: 'path-segment',
  validate(bundle) {
    return [...checkIdentity(bundle), ...checkAnchors(bundle.spec?.trustBundle ?? '')]
  },
  validateUpdate(next, old) {
    const { trustBundle = '' } = next.spec ?? {}
    const found = checkIdentity(next)
    if (trustBundle !== old.spec?.trustBundle) found.push(...checkAnchors(trustBundle))
    checkUnchanged(next.spec?.signerName, old.spec?.signerName, 'spec.signerName', found)
    return found
  },
})

function checkIdentity({ metadata, spec = {} }: LooseObject<ClusterTrustBundle>): StatusCause[] {
  const found: Found = []
  const { signerName = '' } = spec
  // A missing name is already reported.
  if (metadata.name) checkBundleName(metadata.name, signerName, found)
  if (signerName) checkSignerName(signerName, 'spec.signerName', found)
  return found
}

const { bundleBytesMax } = kindsBounds.clusterTrustBundle

/** Checks the form of the text. Whether its blocks are certificates of authorities requires X.509. */
function checkAnchors(trustBundle: string): StatusCause[] {
  const field = 'spec.trustBundle'
  if (isLongerThan(trustBundle, bundleBytesMax)) return [fieldTooLong(field, bundleBytesMax)]
  const found: Found = []
  const places = new Map<string, number[]>()
  const wrong = (detail: string) => found.push(fieldInvalid(field, '<value omitted>', detail))
  for (const [at, one] of pemBlocks(trustBundle).entries()) {
    const { type, hasHeaders, base64 } = one
    if (type !== 'CERTIFICATE') wrong(`entry ${at} has bad block type: ${type}`)
    else if (hasHeaders) wrong(`entry ${at} has PEM block headers`)
    else if (!one.isLongSequence) wrong(`entry ${at} does not parse as X.509`)
    else places.set(base64, [...(places.get(base64) ?? []), at])
  }
  if (found.length > 0) return found
  if (places.size === 0) wrong('at least one trust anchor must be provided')
  for (const indices of places.values()) {
    if (indices.length > 1) wrong(`duplicate trust anchor (indices [${indices.join(' ')}])`)
  }
  return found
}

function checkBundleName(name: string, signerName: string, found: Found): void {
  const prefix = signerName ? `${signerName.replaceAll('/', ':')}:` : ''
  const field = 'metadata.name'
  if (!name.startsWith(prefix)) {
    const detail = `must be named with prefix ${prefix}`
    found.push(
      fieldInvalid(field, name, `ClusterTrustBundle for signerName ${signerName} ${detail}`),
    )
  } else if (!signerName && name.includes(':')) {
    const detail = 'ClusterTrustBundle without signer name must not have ":" in its name'
    found.push(fieldInvalid(field, name, detail))
  } else {
    addInvalid(found, field, name, checkDnsSubdomain(name.slice(prefix.length)))
  }
}
