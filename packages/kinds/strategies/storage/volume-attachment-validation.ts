import { fieldForbidden, fieldRequired, type StatusCause, type VolumeAttachment } from '@skerry/api'
import { checkSubdomainField, checkUnchanged, type Found } from '../checks.ts'
import { checkCsiDriverName } from '../core/pod-spec-validation/csi-driver-name.ts'
import type { LooseObject } from '../typed-strategy.ts'

export function validateAttachment(attachment: LooseObject<VolumeAttachment>): StatusCause[] {
  const found: Found = []
  const { attacher = '', nodeName = '', source = {} } = attachment.spec ?? {}
  checkCsiDriverName(attacher, 'spec.attacher', found)
  const { inlineVolumeSpec, persistentVolumeName: name } = source
  const detail = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (!inlineVolumeSpec && name === undefined) {
    found.push(fieldRequired('spec.source', detail))
  } else if (inlineVolumeSpec && name !== undefined) {
    found.push(fieldForbidden('spec.source', detail))
  } else if (name === '') {
    const text = 'must specify non empty persistentVolumeName'
    found.push(fieldRequired('spec.source.persistentVolumeName', text))
  } else if (inlineVolumeSpec && !inlineVolumeSpec.csi) {
    const text = 'has to be specified in the context of inline volumes'
    found.push(fieldRequired('spec.source.inlineVolumeSpec.csi', text))
  }
  checkSubdomainField(nodeName, 'spec.nodeName', found)
  if (name) checkSubdomainField(name, 'spec.source.persistentVolumeName', found)
  return found
}

export function validateAttachmentUpdate(
  next: LooseObject<VolumeAttachment>,
  old: LooseObject<VolumeAttachment>,
): StatusCause[] {
  const found = validateAttachment(next)
  checkUnchanged(next.spec, old.spec, 'spec', found)
  return found
}
