# What an autoscaler says without metrics, with too few replicas, and of a target that is not there.
Quiet: 1500ms
Counts: vary

### below the least
create
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 1
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1", resources: {requests: {cpu: 100m}}}]}
create
  kind: HorizontalPodAutoscaler
  metadata: {name: web}
  spec:
    minReplicas: 2
    maxReplicas: 4
    scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
    metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
wait deployments/web spec.replicas = 2
