import type { ClusterTrustBundle } from '../../generated/types.ts'
import { fieldInvalid } from '../../field-error.ts'
import { checkDnsSubdomain } from '../../names.ts'
import type { StatusCause } from '../../status-error.ts'
import { addInvalid, checkUnchanged, type Found } from '../checks.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { checkSignerName } from './signer-name.ts'

export const clusterTrustBundleStrategy = strategyOf<ClusterTrustBundle>({
  hasGeneration: false,
  allowUnconditionalUpdate: false,
  // Colons part the signer's name from the rest.
  nameRule: 'path-segment',
  validate: validateBundle,
  validateUpdate(next, old) {
    const found = validateBundle(next)
    checkUnchanged(next.spec?.signerName, old.spec?.signerName, 'spec.signerName', found)
    return found
  },
})

function validateBundle({ metadata, spec = {} }: LooseObject<ClusterTrustBundle>): StatusCause[] {
  const found: Found = []
  const { signerName = '', trustBundle = '' } = spec
  if (signerName) checkSignerName(signerName, 'spec.signerName', found)
  checkBundleName(metadata.name ?? '', signerName, found)
  if (!/^-----BEGIN CERTIFICATE-----$/m.test(trustBundle)) {
    const detail = 'at least one trust anchor must be provided'
    found.push(fieldInvalid('spec.trustBundle', '<value omitted>', detail))
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
