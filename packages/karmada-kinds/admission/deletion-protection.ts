import { StatusError } from '@skerry/api'
import type { AdmissionPlugin } from '@skerry/apiserver'

const label = 'resourcetemplate.karmada.io/deletion-protected'

/** A template goes from every cluster when it goes from the hub: this label keeps it from going by mistake. */
export const deletionProtection: AdmissionPlugin = {
  name: 'ResourceDeletionProtection',
  handles: ({ operation, subresource }) => operation === 'DELETE' && subresource === '',
  async validate({ oldObject, resource, name }) {
    if (oldObject?.metadata.labels?.[label] !== 'Always') return
    const { group, resource: plural } = resource
    const what = `${group === '' ? plural : `${plural}.${group}`} ${JSON.stringify(name)}`
    const why = `This resource is protected, please make sure to remove the label: ${label}`
    throw new StatusError('Forbidden', `${what} is forbidden: ${why}`)
  },
}
