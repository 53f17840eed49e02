import { ObjectYaml } from '../../parts/object-yaml.tsx'

export function ClusterYaml({ cluster }: { readonly cluster: string }) {
  const object = {
    group: 'cluster.karmada.io',
    version: 'v1alpha1',
    resource: 'clusters',
    name: cluster,
  }
  return <ObjectYaml cluster={undefined} object={object} />
}
