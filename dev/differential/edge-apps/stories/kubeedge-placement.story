# A template of an EdgeApplication that chooses nodes itself, and has an init container.
Show: deployments
Counts: vary
Quiet: 6s

### an application whose template asks for nodes with a disk
create
  kind: EdgeApplication
  metadata: {name: shop}
  spec:
    workloadTemplate:
      manifests:
        - apiVersion: apps/v1
          kind: Deployment
          metadata: {name: web, namespace: ${ns}}
          spec:
            replicas: 1
            selector: {matchLabels: {app: web}}
            template:
              metadata: {labels: {app: web}}
              spec:
                nodeSelector: {disk: ssd}
                affinity:
                  nodeAffinity:
                    requiredDuringSchedulingIgnoredDuringExecution:
                      nodeSelectorTerms: [{matchExpressions: [{key: arch, operator: In, values: [arm64]}]}]
                initContainers: [{name: i, image: "team/init:1.0"}]
                containers: [{name: c, image: "team/web:1.0"}]
    workloadScope:
      targetNodeGroups:
        - name: kp-g1
          overriders:
            imageOverriders:
              - {component: Registry, operator: replace, value: "mirror.local:5000"}
              - {component: Tag, operator: replace, value: "2.0"}
      targetNodeLabels:
        - labelSelector: {matchLabels: {hall: h9}}
