import {
  checkLabelValue,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type Taint,
  type Toleration,
} from '@skerry/api'
import { checkOneOf, checkQualifiedField, type Found } from '../../checks.ts'
import type { Loose } from '../../typed-strategy.ts'

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export function checkTolerations(
  tolerations: readonly Loose<Toleration>[],
  field: string,
  found: Found,
): void {
  for (const [at, toleration] of tolerations.entries()) {
    const path = `${field}[${at}]`
    const { key = '', operator = '', effect = '' } = toleration
    if (key) checkQualifiedField(key, `${path}.key`, found)
    if (!key && operator !== 'Exists') {
      const detail =
        'operator must be Exists when `key` is empty, which means "match all values and all keys"'
      found.push(fieldInvalid(`${path}.operator`, operator, detail))
    }
    if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
      const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
      found.push(fieldInvalid(`${path}.effect`, effect, detail))
    }
    checkTolerationValue(toleration, path, found)
    if (effect) checkOneOf(effect, taintEffects, `${path}.effect`, found)
  }
}

function checkTolerationValue(toleration: Loose<Toleration>, path: string, found: Found): void {
  const { operator = '', value = '' } = toleration
  const field = `${path}.operator`
  if (operator === '' || operator === 'Equal') {
    const texts = checkLabelValue(value)
    if (texts.length > 0) found.push(fieldInvalid(field, value, texts.join(';')))
  } else if (operator === 'Exists') {
    const detail = "value must be empty when `operator` is 'Exists'"
    if (value) found.push(fieldInvalid(field, value, detail))
  } else if (operator === 'Lt' || operator === 'Gt') {
    found.push(fieldNotSupported(field, operator, ['Equal', 'Exists', 'Lt', 'Gt']))
  } else {
    found.push(fieldNotSupported(field, operator, ['Equal', 'Exists']))
  }
}

export function checkTaints(taints: readonly Loose<Taint>[], field: string, found: Found): void {
  const seen = new Set<string>()
  for (const [at, taint] of taints.entries()) {
    const path = `${field}[${at}]`
    const { key = '', value = '', effect = '' } = taint
    checkQualifiedField(key, `${path}.key`, found)
    const texts = checkLabelValue(value)
    if (texts.length > 0) found.push(fieldInvalid(`${path}.value`, value, texts.join(';')))
    if (effect) checkOneOf(effect, taintEffects, `${path}.effect`, found)
    else found.push(fieldRequired(`${path}.effect`))
    const identity = `${effect} ${key}`
    if (seen.has(identity)) found.push(duplicateTaint(taint, path))
    seen.add(identity)
  }
}

/** Upstream prints the taint with its internal field names and adds its own reason. */
function duplicateTaint(taint: Loose<Taint>, field: string): Found[number] {
  const { key = '', value = '', effect = '', timeAdded = null } = taint
  const printed = JSON.stringify({ Key: key, Value: value, Effect: effect, TimeAdded: timeAdded })
  const detail = 'taints must be unique by key and effect pair'
  return {
    reason: 'FieldValueDuplicate',
    message: `Duplicate value: ${printed}: ${detail}`,
    field,
  }
}
