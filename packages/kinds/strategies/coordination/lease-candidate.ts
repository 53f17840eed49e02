import {
  checkQualifiedName,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type LeaseCandidate,
  type StatusCause,
} from '@skerry/api'
import { addInvalid, checkNotEmpty, checkUnchanged, type Found } from '../checks.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'

export const leaseCandidateStrategy = strategyOf<LeaseCandidate>({
  hasGeneration: false,
  nameRule: 'config-key',
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate: validateCandidate,
  validateUpdate(next, old) {
    const found = validateCandidate(next)
    checkUnchanged(next.spec?.leaseName, old.spec?.leaseName, 'spec.leaseName', found)
    return found
  },
})

function validateCandidate(candidate: LooseObject<LeaseCandidate>): StatusCause[] {
  const found: Found = []
  const { leaseName, binaryVersion = '', emulationVersion = '', strategy } = candidate.spec ?? {}
  checkNotEmpty(leaseName, 'spec.leaseName', found)
  const emulated = checkVersion(emulationVersion, 'spec.emulationVersion', found)
  checkNotEmpty(binaryVersion, 'spec.binaryVersion', found)
  const binary = checkVersion(binaryVersion, 'spec.binaryVersion', found)
  if (binaryVersion && emulationVersion && isOlder(binary, emulated)) {
    const detail = 'must be greater than or equal to `emulationVersion`'
    found.push(fieldInvalid('spec.binaryVersion', binaryVersion, detail))
  }
  if (!checkNotEmpty(strategy, 'spec.strategy', found)) return found
  if (strategy === oldestEmulation && emulated.every((part) => part === 0)) {
    const detail = `must be specified when \`strategy\` is '${oldestEmulation}'`
    found.push(fieldRequired('spec.emulationVersion', detail))
  }
  checkStrategy(strategy ?? '', found)
  return found
}

const oldestEmulation = 'OldestEmulationVersion'

type Version = readonly number[]

/** Returns the three numbers, or zeros for a missing or invalid version. */
function checkVersion(text: string, field: string, found: Found): Version {
  const parts =
    /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/.exec(text)
  if (text !== '' && !parts) {
    found.push(fieldInvalid(field, text, 'must be a valid semantic version'))
  }
  return (parts?.slice(1, 4) ?? ['0', '0', '0']).map(Number)
}

function isOlder(a: Version, b: Version): boolean {
  const at = a.findIndex((part, index) => part !== b[index])
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0)
}

/** Upstream repeats the field in the path. */
function checkStrategy(strategy: string, found: Found): void {
  const field = 'spec.strategy.strategy'
  if (strategy.includes('/')) addInvalid(found, field, strategy, checkQualifiedName(strategy))
  else if (strategy !== oldestEmulation) {
    found.push(fieldNotSupported(field, strategy, [oldestEmulation]))
  }
}
