def face(minutes):
    return f"{minutes:02}:00"
