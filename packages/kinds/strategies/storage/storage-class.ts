import {
  fieldDuplicate,
  fieldRequired,
  type StatusCause,
  type StorageClass,
  type TopologySelectorTerm,
} from '@skerry/api'
import { checkOneOf, checkQualifiedField, checkMemberUnchanged, type Found } from '../checks.ts'
import { strategyOf, type Loose, type LooseObject } from '../typed-strategy.ts'
import { checkParameters, checkProvisioner } from './provisioner-checks.ts'
import { adviceOnNodeLabel } from '../node-label-warnings.ts'

export const storageClassStrategy = strategyOf<StorageClass>({
  warnings({ allowedTopologies = [] }) {
    return allowedTopologies.flatMap(({ matchLabelExpressions = [] }, at) =>
      matchLabelExpressions.flatMap(({ key = '' }, index) => {
        const advice = adviceOnNodeLabel(key)
        const path = `allowedTopologies[${at}].matchLabelExpressions[${index}].key`
        return advice ? [`${path}: ${advice}`] : []
      }),
    )
  },
  hasGeneration: false,
  defaults(storageClass) {
    storageClass.reclaimPolicy ??= 'Delete'
    storageClass.volumeBindingMode ??= 'Immediate'
  },
  validate: validateStorageClass,
  validateForm: validateStorageClass,
  validateUpdate(next, old) {
    const found: Found = []
    // The class determined how volumes were created; only whether they may grow can change later.
    const fixed = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'] as const
    for (const field of fixed) checkMemberUnchanged(next, old, field, found)
    return found
  },
})

function validateStorageClass(storageClass: LooseObject<StorageClass>): StatusCause[] {
  const found: Found = []
  checkProvisioner(storageClass.provisioner, 'provisioner', found)
  checkParameters(storageClass.parameters ?? {}, 'parameters', found)
  checkOneOf(storageClass.reclaimPolicy, ['Delete', 'Retain'], 'reclaimPolicy', found)
  const modes = ['Immediate', 'WaitForFirstConsumer']
  checkOneOf(storageClass.volumeBindingMode, modes, 'volumeBindingMode', found)
  const terms = storageClass.allowedTopologies ?? []
  const seen: string[] = []
  for (const [at, term] of terms.entries()) {
    const path = `allowedTopologies[${at}]`
    checkTopologyTerm(term, path, found)
    const text = topologyText(term)
    // Upstream starts its list of seen terms with as many empty ones as there are terms.
    const repeats = seen.filter((each) => each === text).length + (text === '[]' ? terms.length : 0)
    for (let count = 0; count < repeats; count += 1) {
      found.push(fieldDuplicate(`${path}.matchLabelExpressions`, ''))
    }
    seen.push(text)
  }
  return found
}

/** Returns the same text for terms that select the same. */
function topologyText({ matchLabelExpressions = [] }: Loose<TopologySelectorTerm>): string {
  const values = new Map<string, string[]>()
  for (const { key = '', values: all } of matchLabelExpressions) {
    values.set(key, [...new Set(all)].toSorted())
  }
  return JSON.stringify([...values].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

function checkTopologyTerm(term: Loose<TopologySelectorTerm>, path: string, found: Found): void {
  const keys = new Set<string>()
  for (const [at, expression] of (term.matchLabelExpressions ?? []).entries()) {
    const field = `${path}.matchLabelExpressions[${at}]`
    const { key = '' } = expression
    const values = expression.values ?? []
    if (values.length === 0) found.push(fieldRequired(`${field}.values`))
    for (const [index, value] of values.entries()) {
      if (values.indexOf(value) < index)
        found.push(fieldDuplicate(`${field}.values[${index}]`, value))
    }
    checkQualifiedField(key, `${field}.key`, found)
    if (keys.has(key)) found.push(fieldDuplicate(`${field}.key`, key))
    keys.add(key)
  }
}
