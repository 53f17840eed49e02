"""Where the client's tests ask for their cluster: that of KUBECONFIG."""
from kubernetes import config
from kubernetes.client import Configuration


def get_e2e_configuration():
    configuration = Configuration()
    config.load_kube_config(client_configuration=configuration)
    return configuration
