import { inBoth } from '../../words/language.ts'

export const virtualTexts = inBoth({
  en: {
    noKind: 'This cluster has no virtual clusters',
    noKindHint:
      'Register the cluster with --virtual-clusters to make groups of nodes clusters of their own.',
    none: 'No virtual cluster has been made yet',
    noneHint: 'Write a VirtualClusterSet or a VirtualCluster in this cluster.',
    well: 'No problem',
    troubles: (count: number) => (count === 1 ? '1 problem' : `${count} problems`),
    nodes: (ready: number, total: number) => `${ready} of ${total} nodes ready`,
    source: (name: string) => `Source ${name}`,
    makes: (count: number) =>
      count === 1 ? 'makes 1 virtual cluster' : `makes ${count} virtual clusters`,
    tryTitle: 'Try a label',
    tryHint: 'The nodes of each value would be one virtual cluster. Nothing is written.',
    label: 'Label of nodes',
    noGroups: 'No node has this label.',
    others: (count: number, names: string) => `In no group: ${count} (${names})`,
  },
  zh: {
    noKind: '此集群没有虚拟集群',
    noKindHint:
      '其代理未启用此功能：使用 --virtual-clusters 注册集群，即可让节点组成为独立的集群。',
    none: '尚未创建虚拟集群',
    noneHint: '请在此集群中编写 VirtualClusterSet 或 VirtualCluster。',
    well: '没有问题',
    troubles: (count: number) => `${count} 个问题`,
    nodes: (ready: number, total: number) => `${total} 个节点中 ${ready} 个就绪`,
    source: (name: string) => `来源 ${name}`,
    makes: (count: number) => `产生 ${count} 个虚拟集群`,
    tryTitle: '试用标签',
    tryHint: '每个取值的节点将成为一个虚拟集群。不写入任何内容。',
    label: '节点标签',
    noGroups: '没有节点带有此标签。',
    others: (count: number, names: string) => `不在任何组：${count} 个（${names}）`,
  },
})
