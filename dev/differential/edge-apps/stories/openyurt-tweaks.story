# What the pools of a YurtAppSet differ by.
Show: deployments
Counts: vary
Quiet: 3s

### an application for two pools, of which one has tweaks
create
  kind: NodePool
  metadata: {name: yt-pa}
  spec: {type: Edge}
create
  kind: NodePool
  metadata: {name: yt-pb, labels: {yt: "yes"}}
  spec: {type: Edge}
create
  kind: YurtAppSet
  metadata: {name: web}
  spec:
    pools: [yt-pa, yt-pb, yt-nosuch]
    workload:
      workloadTemplate:
        deploymentTemplate:
          metadata: {labels: {app: web}}
          spec:
            replicas: 2
            selector: {matchLabels: {app: web}}
            template:
              metadata: {labels: {app: web}}
              spec:
                initContainers: [{name: i, image: "busybox:1"}]
                containers: [{name: c, image: "nginx:1"}]
      workloadTweaks:
        - nodepoolSelector: {matchLabels: {yt: "yes"}}
          tweaks:
            replicas: 5
            containerImages: [{name: c, targetImage: "nginx:pb"}, {name: i, targetImage: "busybox:pb"}]
            patches:
              - {path: /spec/template/spec/containers/0/env, operation: add, value: [{name: POOL, value: "{{nodepool-name}}"}]}
              - {path: /metadata/labels/tier, operation: add, value: edge}

### a tweak of one pool changes
patch yurtappsets/web
  spec:
    workload:
      workloadTweaks:
        - {pools: [yt-pb], tweaks: {replicas: 5, containerImages: [{name: c, targetImage: "nginx:9"}]}}
