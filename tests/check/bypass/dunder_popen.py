# From every class to the one that starts processes, which asyncio has loaded.
# reaches: subprocess.Popen
import asyncio
REACHED = [c for c in {}.__class__.__base__.__subclasses__() if c.__name__ == "Popen"][0]
