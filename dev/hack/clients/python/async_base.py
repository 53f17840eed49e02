"""Where the client's tests ask for their cluster: that of KUBECONFIG."""
import asyncio

from kubernetes_asyncio import config
from kubernetes_asyncio.client import Configuration


def get_e2e_configuration():
    configuration = Configuration()
    asyncio.run(config.load_kube_config(client_configuration=configuration))
    return configuration
