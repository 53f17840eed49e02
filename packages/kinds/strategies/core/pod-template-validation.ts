import {
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  validateAnnotations,
  type PodTemplateSpec,
} from '@skerry/api'
import { memberAsSent } from '@skerry/bodies'
import type { Found } from '../checks.ts'
import { inKeyOrder } from '../key-order.ts'
import { checkLabels } from '../label-checks.ts'
import type { Loose } from '../typed-strategy.ts'
import { checkPodAnnotations } from './pod-spec-validation/pod-annotations.ts'
import { checkPodSpec } from './pod-spec-validation/pod-spec.ts'

export function checkPodTemplate(
  template: Loose<PodTemplateSpec>,
  path: string,
  found: Found,
): void {
  const { spec = {} } = template
  checkTemplateMetadata(template, path, found)
  checkPodSpec(spec, undefined, `${path}.spec`, found)
  if ((spec.ephemeralContainers ?? []).length > 0) {
    const detail = 'ephemeral containers not allowed in pod template'
    found.push(fieldForbidden(`${path}.spec.ephemeralContainers`, detail))
  }
}

export function checkTemplateMetadata(
  { metadata = {}, spec = {} }: Loose<PodTemplateSpec>,
  path: string,
  found: Found,
): void {
  checkLabels(metadata.labels, `${path}.labels`, found)
  found.push(...validateAnnotations(metadata.annotations, `${path}.annotations`))
  checkPodAnnotations(metadata.annotations, spec, `${path}.annotations`, found)
}

/** For controllers that keep pods running. Causes name `kind`. */
export function checkRunsForever(
  template: Loose<PodTemplateSpec>,
  kind: string,
  path: string,
  found: Found,
): void {
  const { restartPolicy = '', activeDeadlineSeconds } = template.spec ?? {}
  if (restartPolicy !== 'Always') {
    found.push(fieldNotSupported(`${path}.spec.restartPolicy`, restartPolicy, ['Always']))
  }
  if (activeDeadlineSeconds !== undefined) {
    const detail = `activeDeadlineSeconds in ${kind} is not Supported`
    found.push(fieldForbidden(`${path}.spec.activeDeadlineSeconds`, detail))
  }
}

export function labelsMismatch(template: Loose<PodTemplateSpec>, path: string): Found[number] {
  const { metadata } = template
  const shown = metadata?.labels ? inKeyOrder(metadata.labels) : memberAsSent(metadata, 'labels')
  const detail = '`selector` does not match template `labels`'
  return fieldInvalid(`${path}.metadata.labels`, shown, detail)
}
