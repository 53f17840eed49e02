import { inBoth } from '../../words/language.ts'

export const texts = inBoth({
  en: {
    title: 'Virtual clusters',
    hint: 'Groups of nodes that are clusters of their own. The page of the cluster around them has their sources and problems.',
    none: 'The fleet has no virtual cluster that you may see',
    noneHint: 'On the page of a cluster, “Virtual” shows which groups its nodes could make.',
    name: 'Name',
    parent: 'Part of',
    state: 'State',
    nodes: 'Nodes',
    message: 'Message',
  },
  zh: {
    title: '虚拟集群',
    hint: '作为独立集群的节点组。其来源和问题见所属集群的页面。',
    none: '舰队中没有您可以查看的虚拟集群',
    noneHint: '在集群页面的“虚拟”中可以查看其节点能组成哪些组。',
    name: '名称',
    parent: '所属',
    state: '状态',
    nodes: '节点',
    message: '消息',
  },
})

export type VirtualTexts = (typeof texts)['en']
