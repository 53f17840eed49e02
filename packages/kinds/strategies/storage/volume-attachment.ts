import type { VolumeAttachment } from '@skerry/api'
import { keepField, statusApart } from '../keep-fields.ts'
import { applyLegacySourceDefaults } from '../core/volume-defaults.ts'
import { strategyOf } from '../typed-strategy.ts'
import { validateAttachment, validateAttachmentUpdate } from './volume-attachment-validation.ts'

export const volumeAttachmentStrategy = strategyOf<VolumeAttachment>({
  validate: validateAttachment,
  validateUpdate: validateAttachmentUpdate,
  ...statusApart,
  hasGeneration: false,
  allowUnconditionalUpdate: false,
  defaults(attachment) {
    const spec = (attachment.spec ??= {})
    spec.source ??= {}
    const inline = spec.source.inlineVolumeSpec
    if (inline) {
      inline.volumeMode ??= 'Filesystem'
      applyLegacySourceDefaults(inline)
    }
    attachment.status ??= {}
    attachment.status.attached ??= false
  },
  prepareForStatusUpdate(next, old) {
    keepField(next, old, 'spec')
    keepField(next.metadata, old.metadata, 'labels')
    keepField(next.metadata, old.metadata, 'annotations')
    keepField(next.metadata, old.metadata, 'finalizers')
    keepField(next.metadata, old.metadata, 'ownerReferences')
  },
})
